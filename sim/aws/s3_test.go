package aws_test

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/smithy-go"

	"github.com/muster-project/muster/sim"
	simaws "github.com/muster-project/muster/sim/aws"
	sims3 "github.com/muster-project/muster/sim/aws/s3"
)

// bucketWorld is a simulator with a client of S3 that speaks in the given style.
func bucketWorld(t *testing.T, byPath bool, expire time.Duration) (*simaws.Server, *s3.Client) {
	t.Helper()
	account := simaws.DefaultAccount()
	account.Buckets = []sims3.Bucket{{Name: simaws.BucketName, ExpireAfter: expire}}
	server, err := simaws.New(simaws.Options{Seed: 1, Accounts: []simaws.Account{account}})
	if err != nil {
		t.Fatal(err)
	}
	return server, s3.New(s3.Options{
		Region: simaws.Region, BaseEndpoint: awssdk.String("http://simulated.aws"), UsePathStyle: byPath, Retryer: awssdk.NopRetryer{},
		Credentials: credentials.NewStaticCredentialsProvider(simaws.AccessKeyID, simaws.SecretAccessKey, ""),
		HTTPClient:  &http.Client{Transport: sim.Transport{Handler: server}},
	})
}

func refusedAs(err error) string {
	var e smithy.APIError
	if errors.As(err, &e) {
		return e.ErrorCode()
	}
	return ""
}

// What the SDK does with an object, S3 does: by a path and by a host, with all checksums that the SDK adds.
func TestObjects(t *testing.T) {
	for style, byPath := range map[string]bool{"by path": true, "by host": false} {
		synctest.Test(t, func(t *testing.T) {
			server, client := bucketWorld(t, byPath, 0)
			defer func() { _ = server.Close() }()
			bucket, key := awssdk.String(simaws.BucketName), awssdk.String("machine-pool/a b/1+2")
			if _, err := client.HeadObject(t.Context(), &s3.HeadObjectInput{Bucket: bucket, Key: key}); refusedAs(err) != "NotFound" {
				t.Errorf("%s: want nothing there yet, got %v", style, err)
			}
			if _, err := client.PutObject(t.Context(), &s3.PutObjectInput{Bucket: bucket, Key: key, Body: strings.NewReader("secret")}); err != nil {
				t.Fatalf("%s: %v", style, err)
			}
			time.Sleep(time.Hour)
			source := awssdk.String(simaws.BucketName + "/machine-pool/a%20b/1%2B2")
			if _, err := client.CopyObject(t.Context(), &s3.CopyObjectInput{Bucket: bucket, Key: key,
				CopySource: source}); refusedAs(err) != "InvalidRequest" {
				t.Errorf("%s: want a copy onto itself that changes nothing refused, got %v", style, err)
			}
			if _, err := client.CopyObject(t.Context(), &s3.CopyObjectInput{Bucket: bucket, Key: key, CopySource: source,
				MetadataDirective: "REPLACE"}); err != nil {
				t.Errorf("%s: copy: %v", style, err)
			}
			found, err := client.GetObject(t.Context(), &s3.GetObjectInput{Bucket: bucket, Key: key})
			if err != nil {
				t.Fatalf("%s: %v", style, err)
			}
			body, _ := io.ReadAll(found.Body)
			if string(body) != "secret" || time.Since(*found.LastModified) > time.Minute {
				t.Errorf("%s: want the object, made young by the copy, got %q of %v", style, body, found.LastModified)
			}
			for range 2 {
				if _, err := client.DeleteObject(t.Context(), &s3.DeleteObjectInput{Bucket: bucket, Key: key}); err != nil {
					t.Errorf("%s: delete: %v", style, err)
				}
			}
			if left := server.Objects(simaws.BucketName); len(left) != 0 {
				t.Errorf("%s: want nothing left, got %v", style, left)
			}
			_, err = client.PutObject(t.Context(), &s3.PutObjectInput{Bucket: awssdk.String("nobodys"), Key: key, Body: strings.NewReader("x")})
			if refusedAs(err) != "NoSuchBucket" && byPath {
				t.Errorf("%s: want an unknown bucket refused, got %v", style, err)
			}
		})
	}
}

func TestPresignedAddresses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, client := bucketWorld(t, true, 0)
		defer func() { _ = server.Close() }()
		bucket, key := awssdk.String(simaws.BucketName), awssdk.String("machine-pool/o/1")
		if _, err := client.PutObject(t.Context(), &s3.PutObjectInput{Bucket: bucket, Key: key,
			Body: bytes.NewReader([]byte("secret"))}); err != nil {
			t.Fatal(err)
		}
		request, err := s3.NewPresignClient(client, s3.WithPresignExpires(time.Hour)).PresignGetObject(t.Context(),
			&s3.GetObjectInput{Bucket: bucket, Key: key})
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range []struct {
			reason, address, want string
		}{
			{"any client that has the address", request.URL, "secret"},
			{"for another object", strings.Replace(request.URL, "/o/1", "/o/2", 1), ""},
			{"for longer", strings.Replace(request.URL, "X-Amz-Expires=3600", "X-Amz-Expires=7200", 1), ""},
			{"without a signature", strings.Split(request.URL, "?")[0], ""},
		} {
			if got, err := server.Fetch(t.Context(), sim.Machine{}, c.address); string(got) != c.want || (err != nil) != (c.want == "") {
				t.Errorf("%s: want %q, got %q, %v", c.reason, c.want, got, err)
			}
		}
		time.Sleep(2 * time.Hour)
		if got, err := server.Fetch(t.Context(), sim.Machine{}, request.URL); err == nil {
			t.Errorf("want the address of an hour ago refused, got %q", got)
		}
	})
}

func TestObjectsExpire(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, client := bucketWorld(t, true, 24*time.Hour)
		defer func() { _ = server.Close() }()
		bucket, key := awssdk.String(simaws.BucketName), awssdk.String("machine-pool/o/1")
		if _, err := client.PutObject(t.Context(), &s3.PutObjectInput{Bucket: bucket, Key: key, Body: strings.NewReader("secret")}); err != nil {
			t.Fatal(err)
		}
		head := func() (*s3.HeadObjectOutput, error) {
			return client.HeadObject(t.Context(), &s3.HeadObjectInput{Bucket: bucket, Key: key})
		}
		if found, err := head(); err != nil || awssdk.ToString(found.Expiration) == "" {
			t.Errorf("want the end of its life told, got %v", err)
		}
		time.Sleep(25 * time.Hour)
		if _, err := head(); refusedAs(err) != "NotFound" {
			t.Errorf("want it gone after a day, got %v", err)
		}
	})
}
