/**
 * The CUDA driver API, generated from {@code cuda.h}; use {@code dev.culebra} instead where you
 * can.
 */
package dev.culebra.generated;
