package dozo.source.dicom;

import java.util.Arrays;
import java.util.Map;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/** The tags that Dozo reads, by the standard's names. Patients' names are deliberately not among them. */
public enum Tag {
    MEDIA_STORAGE_SOP_CLASS_UID(0x0002_0002, Form.UID),
    MEDIA_STORAGE_SOP_INSTANCE_UID(0x0002_0003, Form.UID),
    TRANSFER_SYNTAX_UID(0x0002_0010, Form.UID),

    SPECIFIC_CHARACTER_SET(0x0008_0005, Form.CODE),
    IMAGE_TYPE(0x0008_0008, Form.CODE),
    SOP_CLASS_UID(0x0008_0016, Form.UID),
    SOP_INSTANCE_UID(0x0008_0018, Form.UID),
    STUDY_DATE(0x0008_0020, Form.DATE),
    SERIES_DATE(0x0008_0021, Form.DATE),
    ACQUISITION_DATE(0x0008_0022, Form.DATE),
    CONTENT_DATE(0x0008_0023, Form.DATE),
    ACQUISITION_DATE_TIME(0x0008_002A, Form.CODE),
    STUDY_TIME(0x0008_0030, Form.TIME),
    SERIES_TIME(0x0008_0031, Form.TIME),
    ACQUISITION_TIME(0x0008_0032, Form.TIME),
    CONTENT_TIME(0x0008_0033, Form.TIME),
    ACCESSION_NUMBER(0x0008_0050, Form.TEXT),
    MODALITY(0x0008_0060, Form.CODE),
    MANUFACTURER(0x0008_0070, Form.TEXT),
    TIMEZONE_OFFSET_FROM_UTC(0x0008_0201, Form.CODE),
    STATION_NAME(0x0008_1010, Form.TEXT),
    STUDY_DESCRIPTION(0x0008_1030, Form.TEXT),
    SERIES_DESCRIPTION(0x0008_103E, Form.TEXT),
    MANUFACTURER_MODEL_NAME(0x0008_1090, Form.TEXT),

    /** Used only to make a pseudonymous code: never for a log, a page or the ledger. */
    PATIENT_ID(0x0010_0020, Form.TEXT),
    PATIENT_IDENTITY_REMOVED(0x0012_0062, Form.CODE),

    /** In tesla; in gauss on old machines: see {@link Header#fieldStrengthTesla()}. */
    MAGNETIC_FIELD_STRENGTH(0x0018_0087, Form.DECIMAL),
    DEVICE_SERIAL_NUMBER(0x0018_1000, Form.TEXT),
    SOFTWARE_VERSIONS(0x0018_1020, Form.TEXT),
    PROTOCOL_NAME(0x0018_1030, Form.TEXT),

    STUDY_INSTANCE_UID(0x0020_000D, Form.UID),
    SERIES_INSTANCE_UID(0x0020_000E, Form.UID),
    STUDY_ID(0x0020_0010, Form.TEXT),
    SERIES_NUMBER(0x0020_0011, Form.WHOLE),
    ACQUISITION_NUMBER(0x0020_0012, Form.WHOLE),
    INSTANCE_NUMBER(0x0020_0013, Form.WHOLE),
    NUMBER_OF_TEMPORAL_POSITIONS(0x0020_0105, Form.WHOLE),
    IMAGES_IN_ACQUISITION(0x0020_1002, Form.WHOLE),
    NUMBER_OF_SERIES_RELATED_INSTANCES(0x0020_1209, Form.WHOLE),

    /** A multi-frame file contains many images. */
    NUMBER_OF_FRAMES(0x0028_0008, Form.WHOLE),
    ROWS(0x0028_0010, Form.SHORT),
    COLUMNS(0x0028_0011, Form.SHORT),

    REQUESTED_PROCEDURE_DESCRIPTION(0x0032_1060, Form.TEXT),
    SCHEDULED_PROCEDURE_STEP_ID(0x0040_0009, Form.TEXT),
    PERFORMED_PROCEDURE_STEP_START_DATE(0x0040_0244, Form.DATE),
    PERFORMED_PROCEDURE_STEP_START_TIME(0x0040_0245, Form.TIME),
    PERFORMED_PROCEDURE_STEP_DESCRIPTION(0x0040_0254, Form.TEXT),
    REQUESTED_PROCEDURE_ID(0x0040_1001, Form.TEXT),

    /**
     * The following tags are those of the first item of the Request Attributes Sequence, where most scanners put the
     * booking's values.
     */
    REQUEST_CHARACTER_SET(0x0008_0005, Form.CODE, true),
    REQUEST_REQUESTED_PROCEDURE_DESCRIPTION(0x0032_1060, Form.TEXT, true),
    REQUEST_SCHEDULED_PROCEDURE_STEP_DESCRIPTION(0x0040_0007, Form.TEXT, true),
    REQUEST_SCHEDULED_PROCEDURE_STEP_ID(0x0040_0009, Form.TEXT, true),
    REQUEST_REQUESTED_PROCEDURE_ID(0x0040_1001, Form.TEXT, true);

    /** The form of a value. */
    enum Form {
        /** Digits and dots. */
        UID,
        /** ASCII in every character set. */
        CODE,
        DATE,
        TIME,
        /** Text in the character set that the file declares. */
        TEXT,
        /** A whole number as text. */
        WHOLE,
        /** A number as text. */
        DECIMAL,
        /** An unsigned whole number of two bytes. */
        SHORT;

        boolean isLegal(String text) {
            return switch (this) {
                case UID -> Legal.uid(text);
                case CODE -> Legal.ascii(text);
                case DATE -> Legal.date(text);
                case TIME -> Legal.time(text);
                case TEXT -> true;
                case WHOLE, SHORT -> Legal.whole(text);
                case DECIMAL -> Legal.decimal(text);
            };
        }
    }

    /** Request Attributes Sequence. */
    static final int REQUEST_ATTRIBUTES = 0x0040_0275;

    static final Map<Integer, Tag> AT_TOP = byNumber(tag -> !tag.inRequest);
    static final Map<Integer, Tag> IN_REQUEST = byNumber(tag -> tag.inRequest);

    /** The last wanted tag. Elements are ordered by number. */
    static final int LAST = 0x0040_1001;

    private final int number;
    private final Form form;
    private final boolean inRequest;

    Tag(int number, Form form) {
        this(number, form, false);
    }

    Tag(int number, Form form, boolean inRequest) {
        this.number = number;
        this.form = form;
        this.inRequest = inRequest;
    }

    /** Returns group and element: {@code 0x0020_000D} for (0020,000D). */
    public int number() {
        return number;
    }

    /** Returns whether the tag is in the first item of the Request Attributes Sequence. */
    public boolean inRequest() {
        return inRequest;
    }

    Form form() {
        return form;
    }

    private static Map<Integer, Tag> byNumber(Predicate<Tag> wanted) {
        return Arrays.stream(values()).filter(wanted).collect(Collectors.toMap(Tag::number, Function.identity()));
    }
}
