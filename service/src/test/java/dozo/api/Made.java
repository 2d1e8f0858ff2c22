package dozo.api;

import com.fasterxml.jackson.core.JsonProcessingException;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import org.springdoc.core.customizers.SpringDocCustomizers;
import org.springdoc.core.properties.SpringDocConfigProperties;
import org.springdoc.core.providers.SpringDocProviders;
import org.springdoc.core.service.AbstractRequestService;
import org.springdoc.core.service.GenericResponseService;
import org.springdoc.core.service.OpenAPIService;
import org.springdoc.core.service.OperationService;
import org.springdoc.webmvc.api.OpenApiWebMvcResource;
import org.springframework.beans.factory.ObjectFactory;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.web.bind.annotation.RestController;

/** The OpenAPI description, made from the handlers. */
@RestController
@ConditionalOnProperty("springdoc.api-docs.enabled")
class Made extends OpenApiWebMvcResource {

    Made(
            ObjectFactory<OpenAPIService> describing,
            AbstractRequestService requests,
            GenericResponseService responses,
            OperationService operations,
            SpringDocConfigProperties properties,
            SpringDocProviders providers,
            SpringDocCustomizers customizers) {
        super(describing, requests, responses, operations, properties, providers, customizers);
    }

    String json() throws JsonProcessingException {
        return new String(writeJsonValue(getOpenApi("/", Locale.ENGLISH)), StandardCharsets.UTF_8);
    }
}
