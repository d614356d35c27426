package aws

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/muster-project/muster/sim"
)

// maxObject bounds an object here: what machines boot with is far smaller.
const maxObject = 1 << 20

// Bucket is a bucket that an account has from the start.
type Bucket struct {
	// Name of the bucket, which no other account's has.
	Name string
	// ExpireAfter is how long an object stays after it was written; zero keeps it for ever.
	ExpireAfter time.Duration
}

// storedObject is one object in a bucket.
type storedObject struct {
	Bucket, Key, Kind string
	Data              []byte
	Modified          time.Time
}

// bucket finds a bucket of the account.
func (r *realm) bucket(name string) (Bucket, error) {
	for _, b := range r.server.bucketsOf(r.account) {
		if b.Name == name {
			return b, nil
		}
	}
	return Bucket{}, &apiError{Code: "NoSuchBucket", Message: "The specified bucket does not exist", Status: http.StatusNotFound}
}

// bucketsOf are the buckets that an account has.
func (s *Server) bucketsOf(account string) []Bucket {
	for _, a := range s.accounts {
		if a.ID == account {
			return a.Buckets
		}
	}
	return nil
}

// stored finds an object that has not expired.
func (r *realm) stored(bucket, key string) (*storedObject, Bucket, error) {
	b, err := r.bucket(bucket)
	if err != nil {
		return nil, b, err
	}
	o := r.objects.Get(bucket + "/" + key)
	if o == nil || b.ExpireAfter > 0 && r.now.Sub(o.Modified) > b.ExpireAfter {
		return nil, b, &apiError{Code: "NoSuchKey", Message: "The specified key does not exist.", Status: http.StatusNotFound}
	}
	return o, b, nil
}

// objectAnswer is what S3 says in headers, and the object itself where it was asked for.
type objectAnswer struct {
	object *storedObject
	bucket Bucket
	body   []byte
}

// headers puts what is said of the object there.
func (a objectAnswer) headers(h http.Header) {
	if a.object == nil {
		return
	}
	h.Set("Etag", `"`+sim.Seed(0).Hex(32, string(a.object.Data))+`"`)
	h.Set("Last-Modified", a.object.Modified.UTC().Format(http.TimeFormat))
	h.Set("Content-Type", a.object.Kind)
	if a.bucket.ExpireAfter > 0 {
		h.Set("X-Amz-Expiration", fmt.Sprintf(`expiry-date="%s", rule-id="expire"`, a.object.Modified.Add(a.bucket.ExpireAfter).UTC().Format(http.TimeFormat)))
	}
}

// copyAnswer is what S3 says of a copy.
type copyAnswer struct {
	XMLName      struct{} `xml:"CopyObjectResult"`
	ETag         string
	LastModified string
}

func putObject(r *realm, x *exchange) (any, error) {
	b, err := r.bucket(x.params.Get("Bucket"))
	if err != nil {
		return nil, err
	}
	if len(x.body) > maxObject {
		return nil, refuse("EntityTooLarge", "Your proposed upload exceeds the maximum allowed size")
	}
	o := &storedObject{
		Bucket: b.Name, Key: x.params.Get("Key"), Kind: x.request.Header.Get("Content-Type"), Data: slices.Clone(x.body), Modified: r.now,
	}
	r.objects.Put(o.Bucket+"/"+o.Key, o)
	return objectAnswer{object: o, bucket: b}, nil
}

func copyObject(r *realm, x *exchange) (any, error) {
	b, err := r.bucket(x.params.Get("Bucket"))
	if err != nil {
		return nil, err
	}
	source, err := url.PathUnescape(x.request.Header.Get("X-Amz-Copy-Source"))
	if err != nil {
		return nil, refuse("InvalidArgument", "Copy Source must mention the source bucket and key: sourcebucket/sourcekey")
	}
	bucket, key, _ := strings.Cut(strings.TrimPrefix(source, "/"), "/")
	from, _, err := r.stored(bucket, key)
	if err != nil {
		return nil, err
	}
	if bucket == b.Name && key == x.params.Get("Key") && x.request.Header.Get("X-Amz-Metadata-Directive") != "REPLACE" {
		return nil, refuse("InvalidRequest", "This copy request is illegal because it is trying to copy an object to itself without changing the object's metadata, storage class, website redirect location or encryption attributes.")
	}
	o := &storedObject{Bucket: b.Name, Key: x.params.Get("Key"), Kind: from.Kind, Data: from.Data, Modified: r.now}
	r.objects.Put(o.Bucket+"/"+o.Key, o)
	return &copyAnswer{ETag: sim.Seed(0).Hex(32, string(o.Data)), LastModified: o.Modified.UTC().Format(time.RFC3339)}, nil
}

func getObject(r *realm, x *exchange) (any, error) {
	o, b, err := r.stored(x.params.Get("Bucket"), x.params.Get("Key"))
	if err != nil {
		return nil, err
	}
	return objectAnswer{object: o, bucket: b, body: o.Data}, nil
}

func headObject(r *realm, x *exchange) (any, error) {
	o, b, err := r.stored(x.params.Get("Bucket"), x.params.Get("Key"))
	if err != nil {
		return nil, err
	}
	return objectAnswer{object: o, bucket: b}, nil
}

// deleteObject is content when there is none.
func deleteObject(r *realm, x *exchange) (any, error) {
	if _, err := r.bucket(x.params.Get("Bucket")); err != nil {
		return nil, err
	}
	r.objects.Delete(x.params.Get("Bucket") + "/" + x.params.Get("Key"))
	return objectAnswer{}, nil
}

// Objects are the names of what lies in a bucket, in order: "bucket/key".
func (s *Server) Objects(bucket string) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var names []string
	for _, r := range s.realms {
		for name, o := range r.objects.All() {
			if o.Bucket == bucket {
				names = append(names, name)
			}
		}
	}
	slices.Sort(names)
	return names
}

// RemoveObject deletes an object behind everybody's back.
func (s *Server) RemoveObject(bucket, key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range s.realms {
		r.objects.Delete(bucket + "/" + key)
	}
}

// Fetch gets what a machine's user data points to: s3://bucket/key with the machine's own permissions, or a presigned address.
func (s *Server) Fetch(ctx context.Context, m sim.Machine, source string) ([]byte, error) {
	if rest, ok := strings.CutPrefix(source, "s3://"); ok {
		bucket, key, _ := strings.Cut(rest, "/")
		return s.fetch(m.ID, bucket, key)
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, source, nil)
	if err != nil {
		return nil, fmt.Errorf("fetch user data: %w", err)
	}
	answer, err := sim.Transport{Handler: s}.RoundTrip(r)
	if err != nil {
		return nil, fmt.Errorf("fetch user data: %w", err)
	}
	defer func() { _ = answer.Body.Close() }() // it is in memory
	if answer.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("fetch user data: %s", answer.Status)
	}
	return io.ReadAll(answer.Body)
}

// fetch gets an object with the permissions of a machine, which has none without an instance profile.
func (s *Server) fetch(machine, bucket, key string) ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range s.realms {
		i := r.instances.Get(machine)
		if i == nil {
			continue
		}
		if i.Profile == "" {
			return nil, fmt.Errorf("instance %s has no instance profile: it can read no bucket", machine)
		}
		o, _, err := r.stored(bucket, key)
		if err != nil {
			return nil, err
		}
		return slices.Clone(o.Data), nil
	}
	return nil, fmt.Errorf("no instance %s", machine)
}
