package dev.culebra.testkit;

import java.util.SplittableRandom;
import java.util.random.RandomGenerator;

/**
 * Rows that break implementations. Each kind draws the same values for the same seed, length and
 * type, and every value is one of the storage type.
 */
public enum HardInput {
  /** Standard normal: the easy case, to compare with. */
  NORMAL(true) {
    @Override
    double draw(RandomGenerator random, int i, int n, StorageType type) {
      return random.nextGaussian();
    }
  },
  /** All zero. */
  ZEROS(true) {
    @Override
    double draw(RandomGenerator random, int i, int n, StorageType type) {
      return 0;
    }
  },
  /** One value everywhere: a softmax of exactly 1/n. */
  ALL_EQUAL(true) {
    @Override
    double draw(RandomGenerator random, int i, int n, StorageType type) {
      return 3.25;
    }
  },
  /** Both zeros. */
  SIGNED_ZEROS(true) {
    @Override
    double draw(RandomGenerator random, int i, int n, StorageType type) {
      return i % 2 == 0 ? -0.0 : 0.0;
    }
  },
  /** Scores above 100: exp overflows a float without the subtraction of the maximum. */
  ABOVE_100(true) {
    @Override
    double draw(RandomGenerator random, int i, int n, StorageType type) {
      return random.nextDouble(100, 200);
    }
  },
  /** Scores above 1000: exp overflows a double as well. */
  ABOVE_1000(true) {
    @Override
    double draw(RandomGenerator random, int i, int n, StorageType type) {
      return random.nextDouble(1000, 3000);
    }
  },
  /** Of either sign, up to the largest finite value: differences overflow. */
  HUGE(true) {
    @Override
    double draw(RandomGenerator random, int i, int n, StorageType type) {
      return random.nextDouble(-1, 1) * type.maxValue();
    }
  },
  /** Close to the smallest normal value. */
  TINY(true) {
    @Override
    double draw(RandomGenerator random, int i, int n, StorageType type) {
      return random.nextDouble(-4, 4) * type.minNormal();
    }
  },
  /** Denormals only. */
  DENORMAL(true) {
    @Override
    double draw(RandomGenerator random, int i, int n, StorageType type) {
      return random.nextDouble(-1, 1) * type.minNormal();
    }
  },
  /** Magnitudes over many orders, either sign. */
  MIXED(true) {
    @Override
    double draw(RandomGenerator random, int i, int n, StorageType type) {
      return Math.copySign(Math.pow(10, random.nextDouble(-4, 4)), random.nextGaussian());
    }
  },
  /** Large values of alternating sign: sums cancel. */
  ALTERNATING_SIGNS(true) {
    @Override
    double draw(RandomGenerator random, int i, int n, StorageType type) {
      return (i % 2 == 0 ? 1 : -1) * random.nextDouble(900, 1100);
    }
  },
  /** Rising, so that an online maximum changes at every step. */
  ASCENDING(true) {
    @Override
    double draw(RandomGenerator random, int i, int n, StorageType type) {
      return 20.0 * i / n;
    }
  },
  /** One value far above the rest, in the last place. */
  PEAK_LAST(true) {
    @Override
    double draw(RandomGenerator random, int i, int n, StorageType type) {
      return i == n - 1 ? 500 : random.nextGaussian();
    }
  },
  /** Masked entries (-inf) beside finite ones; the last is finite. */
  SOME_NEGATIVE_INFINITY(false) {
    @Override
    double draw(RandomGenerator random, int i, int n, StorageType type) {
      double value = random.nextGaussian();
      return i < n - 1 && random.nextBoolean() ? Double.NEGATIVE_INFINITY : value;
    }
  },
  /** Masked from the start to the last element but one: partial states are empty for long. */
  LEADING_NEGATIVE_INFINITY(false) {
    @Override
    double draw(RandomGenerator random, int i, int n, StorageType type) {
      return i < n - 1 ? Double.NEGATIVE_INFINITY : -2;
    }
  },
  /** Nothing but -inf. */
  ALL_NEGATIVE_INFINITY(false) {
    @Override
    double draw(RandomGenerator random, int i, int n, StorageType type) {
      return Double.NEGATIVE_INFINITY;
    }
  },
  /** One +inf in the middle. */
  POSITIVE_INFINITY(false) {
    @Override
    double draw(RandomGenerator random, int i, int n, StorageType type) {
      return i == n / 2 ? Double.POSITIVE_INFINITY : random.nextGaussian();
    }
  },
  /** One NaN in the middle. */
  NAN(false) {
    @Override
    double draw(RandomGenerator random, int i, int n, StorageType type) {
      return i == n / 2 ? Double.NaN : random.nextGaussian();
    }
  };

  private final boolean finite;

  HardInput(boolean finite) {
    this.finite = finite;
  }

  /** Whether every value is finite. */
  public boolean isFinite() {
    return finite;
  }

  /** A row of {@code length} values, each exact in {@code type}. */
  public double[] row(int length, StorageType type, long seed) {
    SplittableRandom random = new SplittableRandom(seed * 31 + name().hashCode());
    double[] values = new double[length];
    for (int i = 0; i < length; i++) {
      double value = type.round(draw(random, i, length, type));
      // Rounding up at the edge of the range would turn a finite kind into one with infinities.
      values[i] =
          finite && Double.isInfinite(value) ? Math.copySign(type.maxValue(), value) : value;
    }
    return values;
  }

  /** A dense matrix of {@code rows} rows of this kind, each from its own seed. */
  public double[] rows(int rows, int rowLength, StorageType type, long seed) {
    double[] values = new double[Math.multiplyExact(rows, rowLength)];
    for (int i = 0; i < rows; i++) {
      System.arraycopy(row(rowLength, type, seed + i), 0, values, i * rowLength, rowLength);
    }
    return values;
  }

  abstract double draw(RandomGenerator random, int i, int n, StorageType type);
}
