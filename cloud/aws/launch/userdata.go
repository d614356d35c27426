package launch

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"fmt"
	"strings"

	awsv1 "github.com/muster-project/muster/api/aws/v1beta2"
	"github.com/muster-project/muster/cloud"
)

// userDataLimit is EC2's limit on user data before it is encoded.
const userDataLimit = 16384

const (
	// fieldBootstrap is the core object's field that names the bootstrap data.
	fieldBootstrap = "MachinePool spec.template.spec.bootstrap"
	// fieldBucket is where the infrastructure cluster names its bucket.
	fieldBucket = "AWSCluster spec.s3Bucket"
	// fieldStorage is where the pool says where its Ignition data is kept.
	fieldStorage = "spec.ignition.storageType"
)

const (
	formatIgnition    = "ignition"
	formatCloudConfig = "cloud-config"
)

// delivery is the way in which bootstrap data reaches the machines.
type delivery struct {
	// text is the user data; nil where there is none, or where it only points to the data.
	text []byte
	// stored is true if the data is kept in the cluster's bucket, and the user data points to it.
	stored bool
}

// deliver chooses how the bootstrap data comes to the machines: as it is if it fits, else compressed if what boots from it can
// read that, else through the cluster's bucket.
func (s Source) deliver(ownImage bool) (delivery, error) {
	switch {
	case s.Bootstrap.Empty():
		return delivery{}, nil
	case s.Bootstrap.Format() == formatIgnition:
		return s.deliverIgnition()
	case s.Bootstrap.Format() != formatCloudConfig:
		return s.deliverRaw()
	case s.Managed && !ownImage:
		if strings.HasPrefix(s.Images, windows) || strings.HasPrefix(s.Images, bottlerocket) {
			return delivery{}, cloud.Invalidf(fieldBootstrap,
				"images of %s don't read cloud-config, and EKS joins their machines by itself: reference no bootstrap configuration", s.Images)
		}
		return s.deliverMerged()
	default:
		return s.deliverWhole()
	}
}

// deliverWhole is for machines that read cloud-config by themselves.
func (s Source) deliverWhole() (delivery, error) {
	data := s.Bootstrap.Data()
	if len(data) <= userDataLimit {
		return delivery{text: data}, nil
	}
	packed, err := pack(data)
	if err != nil {
		return delivery{}, err
	}
	if len(packed) <= userDataLimit {
		return delivery{text: packed}, nil
	}
	switch {
	case s.Managed:
		return delivery{}, s.tooLong(fieldBootstrap, len(packed), "make it shorter, for example by fetching files at boot: "+noAddress)
	case s.Cluster.Bucket == nil:
		return delivery{}, s.tooLong(fieldBootstrap, len(packed),
			"make it shorter, for example by fetching files at boot, or give the cluster a bucket in "+fieldBucket)
	}
	return delivery{stored: true}, nil
}

// noAddress is why a node group's data can't be behind an address that ends: another address makes another version, to which EKS
// takes a group by replacing all of its nodes.
const noAddress = "EKS replaces every node of a group for another version of its template, so that no address can be kept valid"

// deliverIgnition is for machines that boot with Ignition, which takes user data as it is and nothing compressed.
func (s Source) deliverIgnition() (delivery, error) {
	if !s.IgnitionAllowed {
		return delivery{}, cloud.Invalidf(fieldBootstrap,
			"the bootstrap data has the format ignition, and the feature gate BootstrapFormatIgnition is off: switch it on, or use cloud-config")
	}
	data, bucket := s.Bootstrap.Data(), s.Cluster.Bucket != nil
	fits := len(data) <= userDataLimit
	switch storage := s.storage(); {
	case storage == awsv1.IgnitionStorageTypeOptionClusterObjectStore && !bucket:
		return delivery{}, cloud.Invalidf(fieldStorage,
			"%s needs a bucket: set %s of the infrastructure cluster, or %s here, for data of up to %d bytes",
			storage, fieldBucket, awsv1.IgnitionStorageTypeOptionUnencryptedUserData, userDataLimit)
	case storage == awsv1.IgnitionStorageTypeOptionClusterObjectStore, storage == "" && !fits && bucket:
		if s.Managed && s.Cluster.Bucket.PresignedURLDuration > 0 {
			return delivery{}, s.tooLong(fieldBootstrap, len(data),
				"make it shorter, or have the cluster's bucket give no presigned addresses: "+noAddress)
		}
		return delivery{stored: true}, nil
	case !fits && storage == awsv1.IgnitionStorageTypeOptionUnencryptedUserData:
		return delivery{}, s.tooLong(fieldStorage, len(data), fmt.Sprintf("make it shorter, or set %s and give the cluster a bucket in %s",
			awsv1.IgnitionStorageTypeOptionClusterObjectStore, fieldBucket))
	case !fits:
		return delivery{}, s.tooLong(fieldBootstrap, len(data), "make it shorter, or give the cluster a bucket in "+fieldBucket)
	}
	return delivery{text: data}, nil
}

// deliverRaw is for machines whose boot program is unknown (Talos, Bottlerocket): they get it as it is.
func (s Source) deliverRaw() (delivery, error) {
	data := s.Bootstrap.Data()
	if len(data) > userDataLimit {
		return delivery{}, s.tooLong(fieldBootstrap, len(data),
			"make it shorter: it is unknown whether what boots from it could read it compressed or from elsewhere")
	}
	return delivery{text: data}, nil
}

// storage is where the pool keeps its Ignition data; empty when it says nothing.
func (s Source) storage() awsv1.IgnitionStorageTypeOption {
	if s.Ignition == nil {
		return ""
	}
	return s.Ignition.StorageType
}

// deliverMerged is for node groups whose image EKS gives: it puts its own part before ours, for which ours must be a multi-part
// document as it is.
func (s Source) deliverMerged() (delivery, error) {
	data := inParts(s.Bootstrap.Data())
	if len(data) > userDataLimit {
		return delivery{}, s.tooLong(fieldBootstrap, len(data),
			"make it shorter: EKS adds a part of its own to the data of nodes whose image it gives, and can't do so with data that is compressed "+
				"or elsewhere")
	}
	return delivery{text: data}, nil
}

// boundary parts a multi-part document. It occurs in no data that anybody writes.
const boundary = "==muster-b4c3f0a5d1e2=="

// inParts is data that EKS can merge: as it is when it is a multi-part document, or what has no first line to tell it by
// (Bottlerocket's settings); else as the one part of such a document.
func inParts(data []byte) []byte {
	kind := ""
	switch {
	case bytes.HasPrefix(data, []byte("#cloud-config")), bytes.HasPrefix(data, []byte("## template: jinja")):
		kind = "text/cloud-config"
	case bytes.HasPrefix(data, []byte("#!")):
		kind = "text/x-shellscript"
	default:
		return data
	}
	if bytes.HasPrefix(data, []byte("##")) {
		kind = "text/jinja2"
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=%q\n\n--%s\nContent-Type: %s; charset=\"us-ascii\"\n\n",
		boundary, boundary, kind)
	b.Write(data)
	fmt.Fprintf(&b, "\n--%s--\n", boundary)
	return b.Bytes()
}

// tooLong refuses data that finds no way to the machines.
func (s Source) tooLong(field string, sent int, advice string) error {
	return cloud.Invalidf(field, "the bootstrap data has %d bytes, %d as it would be sent; EC2 takes %d: %s", len(s.Bootstrap.Data()), sent,
		userDataLimit, advice)
}

// encoded is user data as EC2 is sent it.
func encoded(data []byte) *string {
	if data == nil {
		return nil
	}
	return new(base64.StdEncoding.EncodeToString(data))
}

// dataHash tells bootstrap data apart, none included.
func (s Source) dataHash() string {
	if s.Bootstrap.Empty() {
		return cloud.Digest(nil, dataLength)
	}
	return s.Bootstrap.Hash()
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
