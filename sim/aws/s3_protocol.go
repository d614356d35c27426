package aws

import (
	"encoding/xml"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/muster-project/muster/sim/aws/sigv4"
)

// serviceS3 is how the scope of a signature names S3.
const serviceS3 = "s3"

var s3Protocol = protocol{"application/xml", readObject, nil, encodeObject, objectError}

// objectActions are what is asked for by the method.
var objectActions = map[string]string{
	http.MethodPut: "PutObject", http.MethodGet: "GetObject", http.MethodHead: "HeadObject", http.MethodDelete: "DeleteObject",
}

// readObject finds bucket and key in the path, or in host and path.
func readObject(x *exchange) error {
	path := strings.TrimPrefix(x.request.URL.EscapedPath(), "/")
	bucket, key := x.server.hostBucket(x.account, x.request.Host), path
	if bucket == "" {
		bucket, key, _ = strings.Cut(path, "/")
	}
	name, err := url.PathUnescape(key)
	if err != nil {
		return &apiError{Code: "InvalidURI", Message: "Couldn't parse the specified URI.", Status: http.StatusBadRequest}
	}
	x.params = url.Values{"Bucket": {bucket}, "Key": {name}}
	action, ok := objectActions[x.request.Method]
	if !ok || name == "" {
		return &apiError{Code: "NotImplemented", Message: "A header you provided implies functionality that is not implemented", Status: http.StatusNotImplemented}
	}
	if x.action = action; action == "PutObject" && x.request.Header.Get("X-Amz-Copy-Source") != "" {
		x.action = "CopyObject"
	}
	return nil
}

// hostBucket is the account's bucket that a host is named after.
func (s *Server) hostBucket(account, host string) string {
	for _, b := range s.bucketsOf(account) {
		if strings.HasPrefix(host, b.Name+".") {
			return b.Name
		}
	}
	return ""
}

// encodeObject writes an object as it is, and anything else as XML.
func encodeObject(_ *exchange, out any) ([]byte, error) {
	if a, ok := out.(objectAnswer); ok {
		return a.body, nil
	}
	return xml.Marshal(out)
}

// objectError is a refusal of S3's, which says nothing where a body is not asked for.
func objectError(x *exchange, _ http.Header, e *apiError) string {
	if x.request.Method == http.MethodHead {
		return ""
	}
	return fmt.Sprintf("%s<Error><Code>%s</Code><Message>%s</Message><RequestId>%s</RequestId></Error>", xml.Header, e.Code, escaped(e.Message), x.requestID())
}

// objectSignatures are S3's words for signatures that are wrong.
var objectSignatures = map[error]apiError{
	sigv4.ErrMissing:   {"AccessDenied", "Access Denied", http.StatusForbidden},
	sigv4.ErrMalformed: {"AuthorizationHeaderMalformed", "", http.StatusBadRequest},
	sigv4.ErrUnknown:   {"InvalidAccessKeyId", "The AWS Access Key Id you provided does not exist in our records.", http.StatusForbidden},
	sigv4.ErrExpired:   {"RequestTimeTooSkewed", "The difference between the request time and the current time is too large.", http.StatusForbidden},
	sigv4.ErrMismatch:  {"SignatureDoesNotMatch", mismatch, http.StatusForbidden},
}

// askObject is what is asked for of an object. To see whether there is one needs the permission to get it.
func askObject(_ *realm, x *exchange, name string) ([]ask, error) {
	resource := "arn:aws:s3:::" + x.params.Get("Bucket") + "/" + x.params.Get("Key")
	switch x.action {
	case "HeadObject":
		return []ask{about("s3:GetObject", resource)}, nil
	case "CopyObject":
		from, err := url.PathUnescape(x.request.Header.Get("X-Amz-Copy-Source"))
		if err != nil {
			return nil, err
		}
		return []ask{about("s3:GetObject", "arn:aws:s3:::"+strings.TrimPrefix(from, "/")), about("s3:PutObject", resource)}, nil
	}
	return []ask{about(name, resource)}, nil
}
