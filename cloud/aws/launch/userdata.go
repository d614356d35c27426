package launch

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"fmt"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/aws/session"
)

// userDataLimit is EC2's limit on user data before it is encoded.
const userDataLimit = 16384

// fieldBootstrap is the core object's field that names the bootstrap data.
const fieldBootstrap = "MachinePool spec.template.spec.bootstrap"

// userData is the bootstrap data in base64, or nothing where the machines' own service supplies it all.
func (s Source) userData() (*string, error) {
	if s.Bootstrap.Empty() {
		return nil, nil
	}
	text, err := userData(s.Bootstrap)
	return &text, err
}

// dataHash tells bootstrap data apart, none included.
func (s Source) dataHash() string {
	if s.Bootstrap.Empty() {
		return session.Digest(nil, dataLength)
	}
	return s.Bootstrap.Hash()
}

// userData is the bootstrap data as EC2 takes it. What is too big is compressed, if what boots from it can read that.
func userData(b cloud.Bootstrap) (string, error) {
	data := b.Data()
	if len(data) > userDataLimit && b.Format() != "ignition" {
		packed, err := pack(data)
		if err != nil {
			return "", err
		}
		data = packed
	}
	if len(data) > userDataLimit {
		return "", cloud.Invalidf(fieldBootstrap,
			"the bootstrap data has %d bytes, %d as it would be sent; EC2 takes %d: make it shorter, for example by fetching files at boot",
			len(b.Data()), len(data), userDataLimit)
	}
	return base64.StdEncoding.EncodeToString(data), nil
}

// pack compresses without a time stamp or a name, so that the same data gives the same bytes.
func pack(data []byte) ([]byte, error) {
	var packed bytes.Buffer
	w, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err != nil {
		return nil, fmt.Errorf("compress the bootstrap data: %w", err)
	}
	if _, err = w.Write(data); err == nil {
		err = w.Close()
	}
	if err != nil {
		return nil, fmt.Errorf("compress the bootstrap data: %w", err)
	}
	return packed.Bytes(), nil
}
