package dozo.start;

import dozo.setting.Setting;
import dozo.setting.Setting.Agree;
import dozo.setting.WrongSetting;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/** The form of the log. Spring Boot reads it too, in application.properties, before anything is logged. */
@ConfigurationProperties("dozo.log")
public record LogSettings(
        @Setting(
                value =
                        "the form of the log: lines for people, or a JSON object a line, in the Elastic Common Schema, with the"
                                + " fields `run` and `experiment` where a run works",
                allowed = "text or json",
                agree = Agree.NOBODY)
        @DefaultValue("text")
        String format) {

    public LogSettings {
        WrongSetting.unless(format.equals("text") || format.equals("json"), "format");
    }
}
