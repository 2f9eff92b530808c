/** Files of results as a page with plots, and as tables in Markdown. */
@NullMarked
package dev.culebra.benchmarks.report;

import org.jspecify.annotations.NullMarked;
