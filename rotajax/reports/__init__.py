"""Tables and pictures of run files."""
