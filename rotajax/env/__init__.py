"""The game: actions, state, rules, observation, step and rollout."""
