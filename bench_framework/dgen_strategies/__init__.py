"""The strategies of the worker ``dgen`` that Python drives: the loop, and the producer with its consumers.

Run as ``python -P -m bench_framework.dgen_strategies``, by ``dgen run write --strategy python-…`` alone: dgen has read
the command line, and spells every option out, so that no default and no unit is known twice. From there on this is
the worker: it writes the file, keeps dgen's promise about its name, and appends dgen's line of answer.
"""
