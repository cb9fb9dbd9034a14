"""Does search find the right tool? Judged requests, runs, measures and comparisons of them."""
