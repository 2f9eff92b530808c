/**
 * The file of results: written as a run goes on, read by the report and by the comparison. Its form
 * is {@code results.schema.json}.
 */
@NullMarked
package dev.culebra.benchmarks.results;

import org.jspecify.annotations.NullMarked;
