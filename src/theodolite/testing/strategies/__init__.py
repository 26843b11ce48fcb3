"""Strategies: how simulated red teamers go about it, one small file each."""
