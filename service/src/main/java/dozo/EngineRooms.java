package dozo;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.context.properties.ConfigurationPropertiesScan;
import org.springframework.context.annotation.ComponentScan;
import org.springframework.context.annotation.FilterType;
import org.springframework.core.annotation.AliasFor;

/** The rooms of a program that works on runs without serving people: no pages, no REST, no schedule, only its settings. */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@EnableAutoConfiguration
@ConfigurationPropertiesScan({
    "dozo.broker",
    "dozo.drill",
    "dozo.manifest",
    "dozo.record",
    "dozo.registry",
    "dozo.restore",
    "dozo.run",
    "dozo.schedule",
    "dozo.start"
})
@ComponentScan(
        basePackages = {
            "dozo.certificate",
            "dozo.drill",
            "dozo.ledger",
            "dozo.manifest",
            "dozo.record",
            "dozo.registry",
            "dozo.restore",
            "dozo.run",
            "dozo.schedule",
            "dozo.setting",
            "dozo.start",
            "dozo.transfer",
            "dozo.verify"
        },
        excludeFilters =
                @ComponentScan.Filter(
                        type = FilterType.REGEX,
                        pattern = "dozo\\.(start\\.(Pseudonym|Worklist)Settings.*|schedule\\.(?!ScheduleSettings).*)"))
@interface EngineRooms {

    /** Classes of further rooms. */
    @AliasFor(annotation = ComponentScan.class, attribute = "basePackageClasses")
    Class<?>[] and();
}
