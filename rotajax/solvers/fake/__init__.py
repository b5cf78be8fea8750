"""A local endpoint that speaks the protocol of chat completions, plays from the pictures it is sent, and misbehaves."""
