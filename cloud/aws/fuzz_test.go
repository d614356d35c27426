package aws

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/pool"
)

// FuzzUserData holds that what EC2 is given is the bootstrap data, whole and within EC2's limit, or an error without it.
func FuzzUserData(f *testing.F) {
	f.Add([]byte("## template: jinja\n#cloud-config\n\nwrite_files:\n"), uint16(1), false)
	f.Add([]byte("#cloud-config\n"), uint16(2000), false)
	f.Add([]byte("{\"ignition\":{\"version\":\"3.4.0\"}}"), uint16(700), true)
	f.Add([]byte("\x1f\x8b\x08\x00"), uint16(5000), false)
	f.Fuzz(func(t *testing.T, piece []byte, times uint16, ignition bool) {
		data := bytes.Repeat(piece, int(times)%(1<<18/max(len(piece), 1)+1))
		format := "cloud-config"
		if ignition {
			format = "ignition"
		}
		text, err := userData(cloud.NewBootstrap(data, format))
		if err != nil {
			if cloud.KindOf(err) != cloud.Invalid || len(data) <= userDataLimit || len(piece) > 20 && strings.Contains(err.Error(), string(piece)) {
				t.Errorf("%d bytes: want data within the limit taken and other data refused in silence, got %v", len(data), err)
			}
			return
		}
		sent, err := base64.StdEncoding.DecodeString(text)
		if err != nil || len(sent) > userDataLimit {
			t.Fatalf("want at most %d bytes in base64, got %d, %v", userDataLimit, len(sent), err)
		}
		if len(data) > userDataLimit {
			z, err := gzip.NewReader(bytes.NewReader(sent))
			if err != nil {
				t.Fatal(err)
			}
			if sent, err = io.ReadAll(z); err != nil {
				t.Fatal(err)
			}
		}
		if !bytes.Equal(sent, data) {
			t.Errorf("want the data whole, %d bytes, got %d", len(data), len(sent))
		}
	})
}

// FuzzDescription holds that our own descriptions of versions are read again, whatever else they say, and that other texts
// are read as ours only where they carry hashes of our form.
func FuzzDescription(f *testing.F) {
	for _, text := range []string{
		"", "by hand", "muster content=v1:0123456789abcdef data=0123456789ab", "muster content=v1:0123456789abcdef data=0123456789ab type=t3.large image=ami-1",
		"muster content=v99:0123456789abcdef data=0123456789abc", "muster content=v1:0123456789ABCDEF data=0123456789ab", "muster content= data=", "\nmuster content=v1:0123456789abcdef data=0123456789ab",
	} {
		f.Add(text, "t3.large", "ami-0123456789abcdef0")
	}
	f.Fuzz(func(t *testing.T, text, instanceType, image string) {
		content, data := undescribe(text)
		if (content == "") != (data == "") {
			t.Fatalf("%q: want both hashes or none, got %q and %q", text, content, data)
		}
		if content == "" {
			content, data = algorithm+":"+digest([]byte(text), contentLength), digest([]byte(image), dataLength)
		} else if !strings.HasPrefix(text, describe(pool.Template{Content: content, Data: data}, &ec2types.RequestLaunchTemplateData{})) {
			t.Fatalf("%q: want hashes of our form alone, got %q and %q", text, content, data)
		}
		ours := describe(pool.Template{Content: content, Data: data}, &ec2types.RequestLaunchTemplateData{InstanceType: ec2types.InstanceType(instanceType), ImageId: &image})
		if c, d := undescribe(ours); c != content || d != data {
			t.Errorf("%q: want %s and %s again, got %s and %s", ours, content, data, c, d)
		}
	})
}

// FuzzMarks holds that a bookkeeping tag fits into a tag's value and holds exactly the names that it was made of.
func FuzzMarks(f *testing.F) {
	f.Add("team\ncost-center\nteam", "team", "AAAAAABBBBBB")
	f.Add(strings.Repeat("a\nb\n", 60), "c", "short")
	f.Fuzz(func(t *testing.T, list, other, spoilt string) {
		names := strings.Split(list, "\n")
		text := marks(names)
		if len(text) > 256 {
			t.Fatalf("want at most 256 characters, got %d", len(text))
		}
		sorted := slices.Sorted(slices.Values(names))
		for _, name := range sorted[:min(len(sorted), markRoom)] {
			if !marked(text, name) {
				t.Errorf("want %q marked in %q", name, text)
			}
		}
		if !slices.Contains(names, other) && marked(text, other) {
			t.Errorf("want %q not marked in %q", other, text)
		}
		// Somebody may have edited the tag: it is read as far as it goes.
		_ = marked(spoilt, other)
	})
}

// FuzzRememberedImage holds that an image that is remembered is read as it was written, and other text is refused or read as
// what it would be written as.
func FuzzRememberedImage(f *testing.F) {
	for _, text := range []string{"ami-1 x86_64 /dev/sda1 8", "ami-1 - - 0", "ami-1", "", "a b c 99999999999999999999", " ami-1\tx86_64  /dev/sda1 -8 ", "ami-1 -- - 1"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		i, err := parseImage(text)
		if err != nil {
			if isImage(text) {
				t.Errorf("%q: want it asked for again", text)
			}
			return
		}
		if again, err := parseImage(i.text()); err != nil || again != i {
			t.Errorf("%q: want %+v again, got %+v, %v", text, i, again, err)
		}
		if i.id == "" || strings.ContainsAny(i.id+i.architecture+i.rootDevice, " \t\n") || i.rootSize < 0 {
			t.Errorf("%q: want an image that can be launched, got %+v", text, i)
		}
	})
}

// FuzzMessages holds that whatever a service answers, a condition's message is short, is text, names no request, and the same
// for two requests that differ in nothing but their IDs and times.
func FuzzMessages(f *testing.F) {
	for _, text := range []string{
		"You are not authorized to perform this operation. Encoded authorization failure message: 4hFfHBJ4oTOgBXlvpYUYkz",
		"Value () for parameter groupId is invalid. (RequestId: 2f8d5d0a-1111-2222-3333-444455556666)",
		"User: arn:aws:sts::123456789012:assumed-role/muster/1700000000000000000 is not authorized to perform: ec2:DescribeImages",
		"We currently do not have sufficient t3.large capacity in the Availability Zone you requested (eu-west-1a). Launching EC2 instance failed.",
		"The security group 'sg-1' does not exist in VPC 'vpc-1'", "", "\xff\xfe", strings.Repeat("\u00e9", 400),
	} {
		f.Add("InvalidParameterValue", text, 400)
	}
	f.Fuzz(func(t *testing.T, code, text string, status int) {
		at := time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
		err := refusal(answered(status, nil, code, text), at)
		var e *cloud.Error
		if err == nil || !errors.As(err, &e) {
			t.Fatalf("want a refusal of a known kind, got %v", err)
		}
		if !slices.Contains([]cloud.Kind{cloud.Throttled, cloud.Conflict, cloud.Capacity, cloud.Denied, cloud.Invalid, cloud.Unavailable}, e.Kind) {
			t.Errorf("%q: want one of the six kinds, got %q", code, e.Kind)
		}
		if utf8.ValidString(text) && !utf8.ValidString(e.Message) || len(e.Message) > messageLimit+len("...") || strings.ContainsAny(e.Message, "\n\r\t") {
			t.Errorf("want one short line of text, got %q", e.Message)
		}
		for _, id := range []string{"2f8d5d0a-1111-2222-3333-444455556666", "00000000-0000-4000-8000-000000000000"} {
			same := refusal(answered(status, nil, code, text+" (RequestId: "+id+")"), at)
			if got, want := clean(text+" (RequestId: "+id+")"), clean(text); got != want || same.Error() != err.Error() {
				t.Errorf("want requests that differ in their IDs alone to say the same, %q, got %q", want, got)
			}
		}
		_ = absent(err)
		if blamed := blame(err, fuzzTarget().Spec.Pool); cloud.KindOf(blamed) != e.Kind {
			t.Errorf("want the kind kept, %s, got %v", e.Kind, blamed)
		}
	})
}
