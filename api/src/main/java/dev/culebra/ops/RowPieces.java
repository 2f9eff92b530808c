package dev.culebra.ops;

import dev.culebra.ElementType;

/**
 * Into how large pieces rows are cut that many blocks work on: CULEBRA_SOFTMAX_PIECES of a launch
 * table.
 */
final class RowPieces {

  private static final String ROW = "CULEBRA_SOFTMAX_PIECES";
  private static final int TYPE = 0;
  private static final int MOST_BYTES = 1;
  private static final int PIECE_BYTES = 2;

  private RowPieces() {}

  /** The elements of a piece: by the shape alone, so that the bits do not depend on the device. */
  static long pieceLength(LaunchTable table, ElementType<?> type, long rows, long length) {
    double bytes = (double) rows * length * type.byteSize();
    for (LaunchTable.Row row : table.rows()) {
      if (row.macro().equals(ROW) && row.word(TYPE).equals(type.symbol())) {
        int most = row.natural(MOST_BYTES);
        if (most == 0 || bytes <= most) {
          return row.number(PIECE_BYTES) / type.byteSize();
        }
      }
    }
    throw DamagedRoot.because(table.name() + " has no pieces for " + type);
  }
}
