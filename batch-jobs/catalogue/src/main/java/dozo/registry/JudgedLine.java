package dozo.registry;

/** A line of a file of experiments to register: it has its verdict, or can be registered as far as is known. */
sealed interface JudgedLine permits Verdict, Wish {}
