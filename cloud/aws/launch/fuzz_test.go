package launch

import (
	"bytes"
	"compress/gzip"
	"io"
	"strings"
	"testing"

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
		how, err := Source{Bootstrap: cloud.NewBootstrap(data, format), IgnitionAllowed: true}.deliver(true)
		if err != nil {
			if cloud.KindOf(err) != cloud.Invalid || len(data) <= userDataLimit || len(piece) > 20 && strings.Contains(err.Error(), string(piece)) {
				t.Errorf("%d bytes: want data within the limit taken and other data refused in silence, got %v", len(data), err)
			}
			return
		}
		sent := how.text
		if len(sent) > userDataLimit || how.stored {
			t.Fatalf("want at most %d bytes and no bucket, got %d", userDataLimit, len(sent))
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
		"", "by hand", "muster content=v1:0123456789abcdef data=0123456789ab",
		"muster content=v1:0123456789abcdef data=0123456789ab type=t3.large image=ami-1",
		"muster content=v99:0123456789abcdef data=0123456789abc", "muster content=v1:0123456789ABCDEF data=0123456789ab", "muster content= data=",
		"\nmuster content=v1:0123456789abcdef data=0123456789ab",
	} {
		f.Add(text, "t3.large", "ami-0123456789abcdef0")
	}
	f.Fuzz(func(t *testing.T, text, words, other string) {
		content, data, _ := undescribe(text)
		if (content == "") != (data == "") {
			t.Fatalf("%q: want both hashes or none, got %q and %q", text, content, data)
		}
		if content == "" {
			content, data = algorithm+":"+cloud.Digest([]byte(text), contentLength), cloud.Digest([]byte(other), dataLength)
		} else if !strings.HasPrefix(text, describe(pool.Template{Content: content, Data: data}, "")) {
			t.Fatalf("%q: want hashes of our form alone, got %q and %q", text, content, data)
		}
		ours := describe(pool.Template{Content: content, Data: data}, words)
		if c, d, _ := undescribe(ours); c != content || d != data {
			t.Errorf("%q: want %s and %s again, got %s and %s", ours, content, data, c, d)
		}
		if len(ours) > descriptionMost {
			t.Errorf("%q: want at most %d bytes, got %d", ours, descriptionMost, len(ours))
		}
	})
}

// FuzzRememberedImage holds that an image that is remembered is read as it was written, and other text is refused or read as
// what it would be written as.
func FuzzRememberedImage(f *testing.F) {
	for _, text := range []string{"ami-1 x86_64 /dev/sda1 8", "ami-1 - - 0", "ami-1", "", "a b c 99999999999999999999",
		" ami-1\tx86_64  /dev/sda1 -8 ", "ami-1 -- - 1"} {
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
