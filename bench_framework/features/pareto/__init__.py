"""The Pareto front of time, memory and binary."""
