"""Looking ahead: the 24 successors of a pose."""
