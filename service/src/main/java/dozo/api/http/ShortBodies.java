package dozo.api.http;

import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.lang.reflect.Type;
import org.springframework.core.MethodParameter;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpInputMessage;
import org.springframework.http.converter.HttpMessageConverter;
import org.springframework.web.bind.annotation.RestControllerAdvice;
import org.springframework.web.servlet.mvc.method.annotation.RequestBodyAdviceAdapter;

/** Limits JSON bodies to 1 MiB, because they are read into memory whole. */
@RestControllerAdvice
class ShortBodies extends RequestBodyAdviceAdapter {

    private static final int BYTES_MAX = 1024 * 1024;

    @Override
    public boolean supports(MethodParameter body, Type type, Class<? extends HttpMessageConverter<?>> converter) {
        return Requests.isRest(body.getContainingClass());
    }

    @Override
    public HttpInputMessage beforeBodyRead(
            HttpInputMessage message,
            MethodParameter body,
            Type type,
            Class<? extends HttpMessageConverter<?>> converter)
            throws IOException {
        InputStream counted = new Counted(message.getBody());
        return new HttpInputMessage() {
            @Override
            public InputStream getBody() {
                return counted;
            }

            @Override
            public HttpHeaders getHeaders() {
                return message.getHeaders();
            }
        };
    }

    private static final class Counted extends FilterInputStream {

        private int left = BYTES_MAX;

        Counted(InputStream body) {
            super(body);
        }

        @Override
        public int read() throws IOException {
            int read = super.read();
            count(read < 0 ? 0 : 1);
            return read;
        }

        @Override
        public int read(byte[] into, int offset, int length) throws IOException {
            int read = super.read(into, offset, length);
            count(Math.max(0, read));
            return read;
        }

        private void count(int bytes) {
            left -= bytes;
            if (left < 0) {
                throw new TooLong(BYTES_MAX);
            }
        }
    }
}
