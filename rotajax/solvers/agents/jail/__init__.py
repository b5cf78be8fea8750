"""The program inside which model-written code runs; standard library only, started as a process of its own.

Nothing of it is imported by the host: `python -I jail/` runs `__main__`, which finds its neighbours beside it.
"""
