"""`python -m toolsearch` is the command line."""

from toolsearch.cli import main

if __name__ == "__main__":
    main()
