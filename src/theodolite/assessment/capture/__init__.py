"""What is looked for in words as they are captured: what gives a person or an application away."""
