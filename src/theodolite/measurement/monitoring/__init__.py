"""Monitoring: alarms over time with a stated rate of false ones."""
