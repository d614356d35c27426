package s3

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/aws/iam"
	"github.com/muster-project/muster/sim/aws/wire"
)

// maxObject bounds an object here: what machines boot with is far smaller.
const maxObject = 1 << 20

// Bucket is a bucket that an account has from the start.
type Bucket struct {
	// Name of the bucket, which no other account's has.
	Name string
	// ExpireAfter is the time for which an object is kept after it was written; zero keeps it for ever.
	ExpireAfter time.Duration
}

// storedObject is one object in a bucket.
type storedObject struct {
	Bucket, Key, Kind string
	Data              []byte
	Modified          time.Time
}

// bucket finds a bucket of the account.
func (r *Service) bucket(name string) (Bucket, error) {
	for _, b := range r.Buckets {
		if b.Name == name {
			return b, nil
		}
	}
	return Bucket{}, &wire.APIError{Code: "NoSuchBucket", Message: "The specified bucket does not exist", Status: http.StatusNotFound}
}

// Stored finds an object that has not expired.
func (r *Service) Stored(bucket, key string) (*storedObject, Bucket, error) {
	b, err := r.bucket(bucket)
	if err != nil {
		return nil, b, err
	}
	o := r.Objects.Get(bucket + "/" + key)
	if o == nil || b.ExpireAfter > 0 && r.Now.Sub(o.Modified) > b.ExpireAfter {
		return nil, b, &wire.APIError{Code: "NoSuchKey", Message: "The specified key does not exist.", Status: http.StatusNotFound}
	}
	return o, b, nil
}

// objectAnswer is what S3 says in headers, and the object itself where it was asked for.
type objectAnswer struct {
	object *storedObject
	bucket Bucket
	body   []byte
}

// Headers sets the headers that describe the object.
func (a objectAnswer) Headers(h http.Header) {
	if a.object == nil {
		return
	}
	h.Set("Etag", `"`+sim.Seed(0).Hex(32, string(a.object.Data))+`"`)
	h.Set("Last-Modified", a.object.Modified.UTC().Format(http.TimeFormat))
	h.Set("Content-Type", a.object.Kind)
	if a.bucket.ExpireAfter > 0 {
		h.Set("X-Amz-Expiration", fmt.Sprintf(`expiry-date="%s", rule-id="expire"`,
			a.object.Modified.Add(a.bucket.ExpireAfter).UTC().Format(http.TimeFormat)))
	}
}

// Content returns the object itself where it was requested.
func (a objectAnswer) Content() []byte { return a.body }

// copyAnswer is the answer to a copy.
type copyAnswer struct {
	XMLName      struct{} `xml:"CopyObjectResult"`
	ETag         string
	LastModified string
}

func putObject(r *Service, x *wire.Call) (any, error) {
	b, err := r.bucket(x.Params.Get("Bucket"))
	if err != nil {
		return nil, err
	}
	if len(x.Body) > maxObject {
		return nil, wire.Refuse("EntityTooLarge", "Your proposed upload exceeds the maximum allowed size")
	}
	o := &storedObject{
		Bucket: b.Name, Key: x.Params.Get("Key"), Kind: x.Request.Header.Get("Content-Type"), Data: slices.Clone(x.Body), Modified: r.Now,
	}
	r.Objects.Put(o.Bucket+"/"+o.Key, o)
	return objectAnswer{object: o, bucket: b}, nil
}

func copyObject(r *Service, x *wire.Call) (any, error) {
	b, err := r.bucket(x.Params.Get("Bucket"))
	if err != nil {
		return nil, err
	}
	source, err := url.PathUnescape(x.Request.Header.Get("X-Amz-Copy-Source"))
	if err != nil {
		return nil, wire.Refuse("InvalidArgument", "Copy Source must mention the source bucket and key: sourcebucket/sourcekey")
	}
	bucket, key, _ := strings.Cut(strings.TrimPrefix(source, "/"), "/")
	from, _, err := r.Stored(bucket, key)
	if err != nil {
		return nil, err
	}
	if bucket == b.Name && key == x.Params.Get("Key") && x.Request.Header.Get("X-Amz-Metadata-Directive") != "REPLACE" {
		return nil, wire.Refuse("InvalidRequest",
			"This copy request is illegal because it is trying to copy an object to itself without changing the object's metadata, storage class, "+
				"website redirect location or encryption attributes.")
	}
	o := &storedObject{Bucket: b.Name, Key: x.Params.Get("Key"), Kind: from.Kind, Data: from.Data, Modified: r.Now}
	r.Objects.Put(o.Bucket+"/"+o.Key, o)
	return &copyAnswer{ETag: sim.Seed(0).Hex(32, string(o.Data)), LastModified: o.Modified.UTC().Format(time.RFC3339)}, nil
}

func getObject(r *Service, x *wire.Call) (any, error) {
	o, b, err := r.Stored(x.Params.Get("Bucket"), x.Params.Get("Key"))
	if err != nil {
		return nil, err
	}
	return objectAnswer{object: o, bucket: b, body: o.Data}, nil
}

func headObject(r *Service, x *wire.Call) (any, error) {
	o, b, err := r.Stored(x.Params.Get("Bucket"), x.Params.Get("Key"))
	if err != nil {
		return nil, err
	}
	return objectAnswer{object: o, bucket: b}, nil
}

// deleteObject is content when there is none.
func deleteObject(r *Service, x *wire.Call) (any, error) {
	if _, err := r.bucket(x.Params.Get("Bucket")); err != nil {
		return nil, err
	}
	r.Objects.Delete(x.Params.Get("Bucket") + "/" + x.Params.Get("Key"))
	return objectAnswer{}, nil
}

// askObject is what is asked for of an object. To see whether there is one needs the permission to get it.
func askObject(_ *Service, x *wire.Call, name string) ([]iam.Ask, error) {
	resource := "arn:aws:s3:::" + x.Params.Get("Bucket") + "/" + x.Params.Get("Key")
	switch x.Action {
	case "HeadObject":
		return []iam.Ask{iam.About("s3:GetObject", resource)}, nil
	case "CopyObject":
		from, err := url.PathUnescape(x.Request.Header.Get("X-Amz-Copy-Source"))
		if err != nil {
			return nil, err
		}
		return []iam.Ask{iam.About("s3:GetObject", "arn:aws:s3:::"+strings.TrimPrefix(from, "/")), iam.About("s3:PutObject", resource)}, nil
	}
	return []iam.Ask{iam.About(name, resource)}, nil
}

// Asks are what the actions of the service ask of the caller's policies. An action that is not listed is asked for on everything; an
// action without a name stands for all others that write.
var Asks = map[string]iam.Asker[*Service]{
	"PutObject":    askObject,
	"CopyObject":   askObject,
	"DeleteObject": askObject,
	"GetObject":    askObject,
	"HeadObject":   askObject,
}
