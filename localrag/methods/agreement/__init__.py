"""How far each option of a question agrees with the provisions it rests on, by code alone.

`judging.judge` is the door. Options that say something are compared in `statements`, options that
name a provision in `citations`; each observation is a sign, oriented so that more of it speaks for
agreement, and the signs are weighed by a conditional logit whose weights were fitted beforehand.
"""
