package aws

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"

	"github.com/muster-project/muster/sim"
)

// bucketConsole is what a user does to the buckets of all accounts in the console.
type bucketConsole struct{ server *Server }

// Objects are the names of what lies in a bucket, in order: "bucket/key".
func (s *bucketConsole) Objects(bucket string) []string {
	s.server.Mu.Lock()
	defer s.server.Mu.Unlock()
	var names []string
	for _, r := range s.server.Worlds {
		for name, o := range r.S3.Objects.All() {
			if o.Bucket == bucket {
				names = append(names, name)
			}
		}
	}
	slices.Sort(names)
	return names
}

// RemoveObject deletes an object without a request.
func (s *bucketConsole) RemoveObject(bucket, key string) {
	s.server.Mu.Lock()
	defer s.server.Mu.Unlock()
	for _, r := range s.server.Worlds {
		r.S3.Objects.Delete(bucket + "/" + key)
	}
}

// Fetch gets what a machine's user data points to: s3://bucket/key with the machine's own permissions, or a presigned address.
func (s *bucketConsole) Fetch(ctx context.Context, m sim.Machine, source string) ([]byte, error) {
	if rest, ok := strings.CutPrefix(source, "s3://"); ok {
		bucket, key, _ := strings.Cut(rest, "/")
		return s.fetch(m.ID, bucket, key)
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, source, nil)
	if err != nil {
		return nil, fmt.Errorf("fetch user data: %w", err)
	}
	answer, err := sim.Transport{Handler: s.server}.RoundTrip(r)
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
func (s *bucketConsole) fetch(machine, bucket, key string) ([]byte, error) {
	s.server.Mu.Lock()
	defer s.server.Mu.Unlock()
	for _, r := range s.server.Worlds {
		i := r.EC2.Instances.Rows.Get(machine)
		if i == nil {
			continue
		}
		if i.Profile == "" {
			return nil, fmt.Errorf("instance %s has no instance profile: it can read no bucket", machine)
		}
		o, _, err := r.S3.Stored(bucket, key)
		if err != nil {
			return nil, err
		}
		return slices.Clone(o.Data), nil
	}
	return nil, fmt.Errorf("no instance %s", machine)
}
