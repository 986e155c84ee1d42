"""How far each option of a question agrees with its provisions, by code alone.

`judging.judge` compares statements, or options naming provisions. Each
observation is a sign; more of it speaks for agreement. A conditional logit has fitted the weights.
"""
