"""The service's routes, one file for each subject."""
