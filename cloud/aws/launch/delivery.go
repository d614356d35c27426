package launch

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"strings"

	"k8s.io/utils/ptr"

	"github.com/muster-project/muster/cloud"
)

// Versions of the same data may differ in the way in which it comes to the machines: in itself or through the bucket, from which
// bucket, through which proxy. That is no part of what tells data apart, for it is the same tokens that have to stay valid; a
// version whose machines would get the data in another way than is asked for now counts as one without data, so that another is made.

// wayLength is in hex digits.
const wayLength = 12

// wayOf tells apart how machines that follow a configuration of Ignition come to what it points to, the address itself aside. It is
// empty for what is no such configuration.
func wayOf(text []byte) string {
	var config map[string]map[string]any
	if json.Unmarshal(text, &config) != nil {
		return ""
	}
	delete(config["ignition"], "config")
	way, err := json.Marshal(config)
	if err != nil {
		return ""
	}
	return cloud.Digest(way, wayLength)
}

// isData reports whether user data, as it is shown, is the data with that hash itself.
func isData(userData *string, hash string) bool {
	text, err := base64.StdEncoding.DecodeString(ptr.Deref(userData, ""))
	if err != nil || hash == "" {
		return false
	}
	sum := sha256.Sum256(text)
	return strings.HasPrefix(hex.EncodeToString(sum[:]), hash)
}

// mark marks the versions that bring their data in another way than is wanted. What can't be told is taken to be right, and so is a version
// of other data that a node group launches from: EKS would replace every node for another one.
func (m *Memory) mark(s Source, want Want) error {
	way, presigned := "", true
	if want.stored && s.Bootstrap.Format() == formatIgnition {
		text, err := s.ignitionPointer("")
		if err != nil {
			return err
		}
		way, presigned = wayOf(text), s.Cluster.Bucket.PresignedURLDuration > 0
	}
	for k := range m.versions {
		v := &m.versions[k]
		ours := v.pointer != nil && strings.HasPrefix(v.pointer.to.key, s.folder())
		switch {
		case s.Managed && v.Data != want.Template.Data:
			v.otherwise = false
		case !want.stored:
			v.otherwise = ours
		case ours:
			v.otherwise = m.elsewhere(s, v, want) || v.pointer.differs(way, presigned)
		default:
			v.otherwise = v.whole
		}
	}
	return nil
}

// differs reports whether machines come to what is pointed to in another way, or with an address that ends where none should or the other
// way round.
func (q *pointer) differs(way string, presigned bool) bool {
	return q.way != way || presigned == q.until.IsZero()
}

// elsewhere reports whether a version points to another object than is wanted for its data, or to one that is gone and whose data is not at
// hand any more.
func (m *Memory) elsewhere(s Source, v *version, want Want) bool {
	to := v.pointer.to
	if v.Data == want.Template.Data {
		return to != s.object()
	}
	return to.bucket != s.object().bucket || m.objects[to].missing
}
