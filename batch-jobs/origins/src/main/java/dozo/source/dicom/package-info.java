/** Reads the headers of DICOM files: what a scanner says of an image, without the image. No dependency but the JDK. */
@NullMarked
@NamedInterface("dicom")
package dozo.source.dicom;

import org.jspecify.annotations.NullMarked;
import org.springframework.modulith.NamedInterface;
