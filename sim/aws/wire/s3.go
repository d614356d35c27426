package wire

import (
	"encoding/xml"
	"fmt"
	"net/http"
	"net/url"
	"strings"
)

var s3Protocol = protocol{"application/xml", readObject, nil, encodeObject, objectError}

// objectActions are what is asked for by the method.
var objectActions = map[string]string{
	http.MethodPut: "PutObject", http.MethodGet: "GetObject", http.MethodHead: "HeadObject", http.MethodDelete: "DeleteObject",
}

// readObject finds bucket and key in the path, or in host and path.
func readObject(x *Call) error {
	path := strings.TrimPrefix(x.Request.URL.EscapedPath(), "/")
	bucket, key := x.BucketOf(x.Request.Host), path
	if bucket == "" {
		bucket, key, _ = strings.Cut(path, "/")
	}
	name, err := url.PathUnescape(key)
	if err != nil {
		return &APIError{Code: "InvalidURI", Message: "Couldn't parse the specified URI.", Status: http.StatusBadRequest}
	}
	x.Params = url.Values{"Bucket": {bucket}, "Key": {name}}
	action, ok := objectActions[x.Request.Method]
	if !ok || name == "" {
		return &APIError{Code: "NotImplemented", Message: "A header you provided implies functionality that is not implemented",
			Status: http.StatusNotImplemented}
	}
	if x.Action = action; action == "PutObject" && x.Request.Header.Get("X-Amz-Copy-Source") != "" {
		x.Action = "CopyObject"
	}
	return nil
}

// rawAnswer is an answer that is sent as it is, with headers that describe it.
type rawAnswer interface {
	Headers(h http.Header)
	Content() []byte
}

// encodeObject writes an object as it is, and anything else as XML.
func encodeObject(_ *Call, out any) ([]byte, error) {
	if a, ok := out.(rawAnswer); ok {
		return a.Content(), nil
	}
	return xml.Marshal(out)
}

// objectError is a refusal of S3's, which says nothing where a body is not asked for.
func objectError(x *Call, _ http.Header, e *APIError) string {
	if x.Request.Method == http.MethodHead {
		return ""
	}
	return fmt.Sprintf("%s<Error><Code>%s</Code><Message>%s</Message><RequestId>%s</RequestId></Error>", xml.Header, e.Code,
		escaped(e.Message), x.RequestID)
}

// objectSignatures are S3's words for signatures that are wrong.
var objectSignatures = map[error]APIError{
	ErrSignatureMissing:   {"AccessDenied", "Access Denied", http.StatusForbidden},
	ErrSignatureMalformed: {"AuthorizationHeaderMalformed", "", http.StatusBadRequest},
	ErrKeyUnknown:         {"InvalidAccessKeyId", "The AWS Access Key Id you provided does not exist in our records.", http.StatusForbidden},
	ErrSignatureExpired: {"RequestTimeTooSkewed", "The difference between the request time and the current time is too large.",
		http.StatusForbidden},
	ErrSignatureMismatch: {"SignatureDoesNotMatch", mismatch, http.StatusForbidden},
}
