"""Records over time: baselines, history, bisection and the site."""
