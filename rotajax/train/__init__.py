"""Training inside the simulator: environment, pose-posterior network, imitation, PPO, checkpoints (extra `train`)."""
