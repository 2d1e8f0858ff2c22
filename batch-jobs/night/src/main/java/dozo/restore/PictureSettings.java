package dozo.restore;

import dozo.setting.Setting;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/** Whether files are shown as pictures. */
@ConfigurationProperties("dozo.pictures")
public record PictureSettings(
        @Setting(
                "whether who may download a file may see it as a [picture](content.md#pictures); faces and names in images are then"
                        + " seen in browsers")
        @DefaultValue("false")
        boolean allowed) {}
