package launch

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"k8s.io/utils/ptr"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/aws/session"
	"github.com/muster-project/muster/pool"
)

// Bootstrap data that user data has no room for lies in the cluster's bucket, and the user data points to it. Its key holds the
// owner's ID, so that no two pools ever share one, and the data's hash, so that it is written once and never overwritten with
// something else. A version's object lives as long as the version does: it is looked at rarely, written again before a bucket
// that lets its objects expire has deleted it, and deleted after its version.
//
// Ignition fetches s3 addresses with the permissions of the instance's own profile, or, where the cluster's bucket asks for it,
// from a presigned address. cloud-init can fetch no s3 address; an #include of a presigned one works on every image that has
// cloud-init, without a tool or a permission on the machine, which a boothook that calls a command-line client would need. A
// presigned address is no part of what tells versions apart; a new version is made in time before it ends.

const (
	// objectFolder is the ecosystem's, which its permissions for machines are for.
	objectFolder = "machine-pool/"
	// objectPeriod is the time for which an object is assumed to exist, renewAfter the maximum age of one in a bucket that lets its objects
	// expire: the ecosystem's do after a day.
	objectPeriod, renewAfter = 6 * time.Hour, 12 * time.Hour
	// presignedFor is the default validity of a presigned address; presignedMost is the service's limit.
	presignedFor, presignedMost = 24 * time.Hour, 7 * 24 * time.Hour
	// signedEvery rounds the moment of a signature, so that a request that is made again is the same request.
	signedEvery = 15 * time.Minute
	// objectScheme begins the names of objects among what a pool needs.
	objectScheme = "s3://"
)

// object is one object in a bucket.
type object struct{ bucket, key string }

func (o object) String() string { return objectScheme + o.bucket + "/" + o.key }

// IsObject reports whether what a pool needs is an object in a bucket: EnsurePrerequisites sees to those.
func IsObject(need string) bool { return strings.HasPrefix(need, objectScheme) }

func parseObject(text string) (object, bool) {
	rest, ok := strings.CutPrefix(text, objectScheme)
	bucket, key, found := strings.Cut(rest, "/")
	return object{bucket, key}, ok && found
}

// objectRead is the last read of an object.
type objectRead struct {
	at, modified time.Time
	// missing is true if it is gone, expires if its bucket deletes it some day.
	missing, expires bool
	// problem is why that is not known.
	problem *pool.Cause
}

// young reports whether it need not be asked for again.
func (r objectRead) young(now time.Time) bool {
	if r.problem != nil {
		return now.Sub(r.at) < session.SlowPeriod
	}
	return now.Sub(r.at) < objectPeriod
}

// plainOwner is an owner's ID that can stand in an address as it is.
var plainOwner = regexp.MustCompile(`^[0-9A-Za-z_-]+$`)

// folder is where the owner's objects are.
func (s Source) folder() string {
	owner := s.Owner.ID
	if !plainOwner.MatchString(owner) {
		owner = "sha256." + cloud.Digest([]byte(owner), 2*sha256.Size)
	}
	return objectFolder + owner + "/"
}

// object is where the bootstrap data of now is kept.
func (s Source) object() object { return object{s.Cluster.Bucket.Name, s.folder() + s.dataHash()} }

// objectStore reads and writes the owner's objects in the cluster's bucket.
type objectStore struct {
	Session *session.Session
	Source  Source
	Memory  *Memory
	Now     time.Time
}

// objects returns the store of the pass.
func (p Pass) objects() objectStore { return objectStore{p.Session, p.Source, p.Memory, p.Now} }

// store puts the bootstrap data into the bucket and gives the user data that points to it.
func (p objectStore) store(ctx context.Context) ([]byte, error) {
	at := p.Source.object()
	if err := p.putObject(ctx, at); err != nil {
		return nil, err
	}
	ignition := p.Source.Bootstrap.Format() == formatIgnition
	if ignition && p.Source.Cluster.Bucket.PresignedURLDuration == 0 {
		return p.Source.ignitionPointer(at.String())
	}
	address, err := p.presigned(ctx, at)
	if err != nil {
		return nil, err
	}
	if ignition {
		return p.Source.ignitionPointer(address)
	}
	return []byte("#include\n" + address + "\n"), nil
}

func (p objectStore) putObject(ctx context.Context, at object) error {
	_, err := p.Session.S3.PutObject(ctx, &s3.PutObjectInput{Bucket: &at.bucket, Key: &at.key,
		Body: bytes.NewReader(p.Source.Bootstrap.Data())})
	if err = session.Refusal(err, p.Now); err != nil {
		return cloud.InField(cloud.RedactError(err, p.Source.Bootstrap), fieldBucket)
	}
	p.Memory.knowObject(at, objectRead{at: p.Now, modified: p.Now})
	return nil
}

// dated signs for a given moment, by our clock and not the machine's.
type dated struct {
	*v4.Signer
	at time.Time
}

// PresignHTTP signs for that moment.
func (d dated) PresignHTTP(ctx context.Context, c awssdk.Credentials, r *http.Request, payload, service, region string, _ time.Time,
	options ...func(*v4.SignerOptions)) (string, http.Header, error) {
	return d.Signer.PresignHTTP(ctx, c, r, payload, service, region, d.at, options...)
}

// presigned is an address from which any holder can fetch the object for a while: as long as the cluster says, and no longer
// than the credentials that sign it are valid.
func (p objectStore) presigned(ctx context.Context, at object) (string, error) {
	signedAt := p.Now.UTC().Truncate(signedEvery)
	valid := min(p.Source.Cluster.Bucket.PresignedURLDuration, presignedMost)
	if valid <= 0 {
		valid = presignedFor
	}
	if keys, err := p.Session.S3.Options().Credentials.Retrieve(ctx); err == nil && keys.CanExpire {
		valid = min(valid, keys.Expires.Sub(signedAt))
	}
	signer := s3.NewPresignClient(p.Session.S3, s3.WithPresignExpires(valid), func(o *s3.PresignOptions) {
		o.Presigner = dated{v4.NewSigner(func(o *v4.SignerOptions) { o.DisableURIPathEscaping = true }), signedAt}
	})
	request, err := signer.PresignGetObject(ctx, &s3.GetObjectInput{Bucket: &at.bucket, Key: &at.key})
	if err != nil {
		return "", session.Refusal(err, p.Now)
	}
	return request.URL, nil
}

// pointer returns the object of Muster that a version's user data points to, if there is one; until is when its address ends, zero
// for one that does not.
type pointer struct {
	to           object
	since, until time.Time
	// way is the result of wayOf for the user data.
	way string
}

// pointerOf reads user data as it is shown.
func pointerOf(userData *string) *pointer {
	text, err := base64.StdEncoding.DecodeString(ptr.Deref(userData, ""))
	if err != nil || len(text) > userDataLimit {
		return nil
	}
	address := ""
	if include, ok := strings.CutPrefix(string(text), "#include\n"); ok {
		address = strings.TrimSpace(include)
	} else {
		var config struct {
			Ignition struct {
				Config struct{ Append, Merge []struct{ Source string } }
			}
		}
		if json.Unmarshal(text, &config) != nil {
			return nil
		}
		for _, remote := range slices.Concat(config.Ignition.Config.Append, config.Ignition.Config.Merge) {
			address = remote.Source
		}
	}
	to := pointerTo(address)
	if to != nil {
		to.way = wayOf(text)
	}
	return to
}

// pointerTo reads an address: s3, or https with the bucket in the path or in the host's name.
func pointerTo(address string) *pointer {
	u, err := url.Parse(address)
	if err != nil {
		return nil
	}
	before, key, ok := strings.Cut(u.Path, "/"+objectFolder)
	if !ok {
		return nil
	}
	bucket := strings.Trim(before, "/")
	if bucket == "" {
		bucket = u.Host
		if u.Scheme != "s3" {
			bucket, _, _ = strings.Cut(bucket, ".s3")
			bucket, _, _ = strings.Cut(bucket, ".")
		}
	}
	out := &pointer{to: object{bucket, objectFolder + key}}
	if seconds, err := strconv.Atoi(u.Query().Get("X-Amz-Expires")); err == nil {
		if out.since, err = time.Parse("20060102T150405Z", u.Query().Get("X-Amz-Date")); err == nil {
			out.until = out.since.Add(time.Duration(seconds) * time.Second)
		}
	}
	return out
}

// ends reports whether the address should be replaced: more than half of its time is over.
func (q *pointer) ends(now time.Time) bool {
	return q != nil && !q.until.IsZero() && now.After(q.since.Add(q.until.Sub(q.since)/2))
}

// Prerequisites are the objects of versions that are gone or about to go, and that can be put there again; the issues are those that
// can't, and those that can't be looked at, which keeps nothing else from being done. Nothing is asked for pools whose data needs
// no object, and rarely for the others.
func (p Pass) Prerequisites(ctx context.Context) (needs []string, issues []pool.Cause) {
	for _, at := range p.Source.objectsOf(p.Memory.versions) {
		read := p.objects().lookAt(ctx, at)
		switch {
		case read.problem != nil:
			issues = append(issues, *read.problem)
		case read.missing && !p.Source.holds(at):
			issues = append(issues, pool.Cause{Reason: "BootstrapDataGone", Message: fmt.Sprintf(
				"%s, which a version of launch template %s points to, is gone: no machine can start from that version any more", at, p.Source.Name)})
		case read.missing, read.expires && p.Now.Sub(read.modified) > renewAfter:
			needs = append(needs, at.String())
		}
	}
	return needs, issues
}

// holds reports whether the object's data is that of now.
func (s Source) holds(at object) bool {
	return s.Cluster.Bucket != nil && !s.Bootstrap.Empty() && s.object() == at
}

// lookAt asks for an object unless it is known.
func (p objectStore) lookAt(ctx context.Context, at object) objectRead {
	if known, ok := p.Memory.objects[at]; ok && known.young(p.Now) {
		return known
	}
	found, err := p.Session.S3.HeadObject(ctx, &s3.HeadObjectInput{Bucket: &at.bucket, Key: &at.key})
	read := objectRead{at: p.Now}
	switch err = session.Refusal(err, p.Now); {
	case noObject(err):
		read.missing = true
	case err != nil:
		read.problem = &pool.Cause{Reason: string(cloud.KindOf(err)), Message: fmt.Sprintf("%s can't be looked at: %v", at, err)}
	default:
		read.modified, read.expires = ptr.Deref(session.OurTime(found.LastModified, found.ResultMetadata), time.Time{}),
			ptr.Deref(found.Expiration, "") != ""
	}
	p.Memory.knowObject(at, read)
	return read
}

// noObject reports whether an object, or its bucket, does not exist.
func noObject(err error) bool {
	return slices.Contains([]string{"NotFound", "NoSuchKey", "NoSuchBucket"}, cloud.CodeOf(err))
}

func (m *Memory) knowObject(at object, read objectRead) {
	if m.objects == nil {
		m.objects = map[object]objectRead{}
	}
	m.objects[at] = read
}

// EnsurePrerequisites puts objects there again that Prerequisites has named; objects with other names have other owners. Data that is not
// at hand any more is copied onto itself, which makes it young.
func (p Pass) EnsurePrerequisites(ctx context.Context, needs []string) error {
	for _, need := range needs {
		at, ok := parseObject(need)
		if !ok {
			continue
		}
		delete(p.Memory.objects, at)
		if p.Source.holds(at) {
			if err := p.objects().putObject(ctx, at); err != nil {
				return err
			}
			continue
		}
		_, err := p.Session.S3.CopyObject(ctx, &s3.CopyObjectInput{
			Bucket: &at.bucket, Key: &at.key, CopySource: new(url.PathEscape(at.bucket + "/" + at.key)), MetadataDirective: "REPLACE",
		})
		if err = session.Refusal(err, p.Now); err != nil && !noObject(err) {
			return cloud.InField(err, fieldBucket)
		}
	}
	return nil
}

// dropObjects deletes objects. A cluster whose bucket asks for it is content where that fails.
func (p objectStore) dropObjects(ctx context.Context, list []object) error {
	best := p.Source.Cluster.Bucket != nil && p.Source.Cluster.Bucket.BestEffortDelete
	for _, at := range list {
		delete(p.Memory.objects, at)
		_, err := p.Session.S3.DeleteObject(ctx, &s3.DeleteObjectInput{Bucket: &at.bucket, Key: &at.key})
		if err = session.Refusal(err, p.Now); err != nil && !noObject(err) && !best {
			return err
		}
	}
	return nil
}

// objectsOf are the objects of the owner that versions point to, each once.
func (s Source) objectsOf(versions []version) []object {
	var list []object
	for _, v := range versions {
		if v.pointer != nil && strings.HasPrefix(v.pointer.to.key, s.folder()) && !slices.Contains(list, v.pointer.to) {
			list = append(list, v.pointer.to)
		}
	}
	return list
}
