package dozo.ui;

import dozo.web.Prefix;
import org.springframework.stereotype.Component;
import org.springframework.web.context.request.RequestContextHolder;
import org.springframework.web.context.request.ServletRequestAttributes;
import org.thymeleaf.TemplateEngine;
import org.thymeleaf.context.IExpressionContext;
import org.thymeleaf.linkbuilder.StandardLinkBuilder;

/** Makes the links of templates, also below the path at which a proxy shows the service. */
@Component
final class Links extends StandardLinkBuilder {

    Links(TemplateEngine templates) {
        templates.setLinkBuilder(this);
    }

    @Override
    protected String processLink(IExpressionContext context, String link) {
        // NB: after the names of files got their digests, which are found by paths without the prefix.
        String made = super.processLink(context, link);
        return RequestContextHolder.getRequestAttributes() instanceof ServletRequestAttributes asked
                ? Prefix.before(made, asked.getRequest())
                : made;
    }
}
