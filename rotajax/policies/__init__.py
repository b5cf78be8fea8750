"""Policies of one type: the four ground-truth ones of the paper."""
