"""Agents: a model that may run Python on its pictures, alone (`react`) or under a manager (`magentic`)."""
