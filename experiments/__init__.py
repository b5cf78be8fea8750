"""One script a table or figure of the paper; see README.md."""
