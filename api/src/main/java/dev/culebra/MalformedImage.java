package dev.culebra;

/** What is wrong with an image, for {@link KernelImage} to tell together with the image's name. */
final class MalformedImage extends Exception {

  private static final long serialVersionUID = 1;

  private final String what;

  MalformedImage(String what) {
    super(what);
    this.what = what;
  }

  String what() {
    return what;
  }
}
