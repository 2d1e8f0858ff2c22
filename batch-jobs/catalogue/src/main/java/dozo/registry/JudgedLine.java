package dozo.registry;

/** A line of a file of experiments to register: with its verdict, or registrable as far as known. */
sealed interface JudgedLine permits Verdict, Wish {}
