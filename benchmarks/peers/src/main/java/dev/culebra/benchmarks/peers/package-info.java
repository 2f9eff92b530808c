/** The JNI bindings that Culebra is measured against, each used as its documentation says. */
@NullMarked
package dev.culebra.benchmarks.peers;

import org.jspecify.annotations.NullMarked;
