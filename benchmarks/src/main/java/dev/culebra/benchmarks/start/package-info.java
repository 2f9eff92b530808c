/** What a process pays from its start to its end: a cold JVM, with and without what it may keep. */
@NullMarked
package dev.culebra.benchmarks.start;

import org.jspecify.annotations.NullMarked;
