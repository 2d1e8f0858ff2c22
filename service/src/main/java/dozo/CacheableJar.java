package dozo;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassFile.ClassHierarchyResolverOption;
import java.lang.classfile.ClassFile.StackMapsOption;
import java.lang.classfile.ClassFileVersion;
import java.lang.classfile.ClassHierarchyResolver;
import java.lang.classfile.ClassModel;
import java.lang.classfile.ClassTransform;
import java.lang.classfile.CodeBuilder;
import java.lang.constant.ClassDesc;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collections;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Rewrites a jar so that an AOT cache takes its classes, because loading them takes a third of a command's time. A cache has no
 * classes of formats before Java 6, such as picocli's, and none of signed jars, such as Bouncy Castle's.
 */
final class CacheableJar {

    private static final int JAVA_6 = 50;

    private static final Pattern SIGNATURE = Pattern.compile("META-INF/[^/]+\\.(SF|RSA|DSA|EC)");

    private static final String CLASS = ".class";

    private static final ClassTransform CURRENT = ClassTransform.transformingMethodBodies(CodeBuilder::with)
            .andThen((made, element) -> {
                if (element instanceof ClassFileVersion) {
                    made.withVersion(ClassFile.latestMajorVersion(), 0);
                } else {
                    made.with(element);
                }
            });

    private final JarFile old;
    private final ClassFile format;

    private CacheableJar(JarFile old) {
        this.old = old;
        // NB: the stack maps that newer formats require depend on superclasses, of which some are in the jar.
        this.format = ClassFile.of(
                StackMapsOption.GENERATE_STACK_MAPS,
                ClassHierarchyResolverOption.of(ClassHierarchyResolver.ofResourceParsing(this::inJar)
                        .orElse(ClassHierarchyResolver.defaultResolver())));
    }

    /** Arguments: the jar, and the file to write. */
    public static void main(String[] arguments) throws IOException {
        try (JarFile old = new JarFile(arguments[0]);
                JarOutputStream out = new JarOutputStream(Files.newOutputStream(Path.of(arguments[1])))) {
            new CacheableJar(old).write(out);
        }
    }

    private void write(JarOutputStream out) throws IOException {
        for (JarEntry entry : Collections.list(old.entries())) {
            if (!entry.isDirectory() && !SIGNATURE.matcher(entry.getName()).matches()) {
                JarEntry made = new JarEntry(entry.getName());
                // Not the present time: the same commit gives the same package.
                made.setTimeLocal(entry.getTimeLocal());
                out.putNextEntry(made);
                if (entry.getName().equals(JarFile.MANIFEST_NAME)) {
                    Manifest manifest = new Manifest(old.getManifest());
                    // The digests of the signature.
                    manifest.getEntries().clear();
                    manifest.write(out);
                } else {
                    out.write(entry.getName().endsWith(CLASS) ? current(bytes(entry)) : bytes(entry));
                }
            }
        }
    }

    private byte[] current(byte[] bytes) {
        ClassModel parsed = format.parse(bytes);
        return parsed.majorVersion() < JAVA_6 ? format.transformClass(parsed, CURRENT) : bytes;
    }

    private byte[] bytes(JarEntry entry) throws IOException {
        try (InputStream in = old.getInputStream(entry)) {
            return in.readAllBytes();
        }
    }

    private @Nullable InputStream inJar(ClassDesc type) {
        JarEntry entry = old.getJarEntry(type.descriptorString().replaceAll("^L|;$", "") + CLASS);
        try {
            return entry == null ? null : old.getInputStream(entry);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
