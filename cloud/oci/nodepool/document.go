package nodepool

import (
	"github.com/muster-project/muster/cloud/fields"
	"github.com/muster-project/muster/cloud/oci/containerengine"
	"github.com/muster-project/muster/cloud/oci/oke"
)

// docOf returns a node pool as it exists.
func docOf(p *containerengine.NodePool) doc {
	d := doc{
		memberVersion: fields.Text(text(p.KubernetesVersion)), memberShape: text(p.NodeShape),
		memberKey: text(p.SshPublicKey), memberMetadata: p.NodeMetadata, memberLabels: labelsOf(p.InitialNodeLabels), memberTags: p.FreeformTags,
		memberDefined: oke.DefinedOf(p.DefinedTags), memberNodeTags: nodeTagsOf(p), memberGrace: minutesOf("PT60M"), memberForce: false,
	}
	if c := p.NodeShapeConfig; c != nil {
		d[memberOCPUs], d[memberMemory] = value(c.Ocpus), value(c.MemoryInGBs)
	}
	if s := p.NodeSourceDetails; s != nil {
		d[memberImage] = text(s.ImageId)
		d[memberVolume] = fields.Number(int64(value(s.BootVolumeSizeInGBs)))
	}
	if e := p.NodeEvictionNodePoolSettings; e != nil {
		if minutes := minutesOf(text(e.EvictionGraceDuration)); minutes != nil {
			d[memberGrace] = minutes
		}
		d[memberForce] = value(e.IsForceDeleteAfterGraceDuration)
	}
	if c := p.NodeConfigDetails; c != nil {
		configOf(d, c)
	}
	return d
}

// configOf adds the configuration of nodes to a document.
func configOf(d doc, c *containerengine.NodePoolNodeConfigDetails) {
	d[memberNSGs], d[memberKMS], d[memberInTransit] = oke.Sorted(c.NsgIds), text(c.KmsKeyId), value(c.IsPvEncryptionInTransitEnabled)
	places := []string{}
	for _, one := range c.PlacementConfigs {
		places = append(places, string(placementOf(one)))
	}
	d[memberPlacement] = places
	if n := c.NodePoolPodNetworkOptionDetails; n != nil {
		d[memberCNI], d[memberPodSubnets], d[memberPodNSGs] = text(n.CniType), oke.Sorted(n.PodSubnetIds), oke.Sorted(n.PodNsgIds)
		d[memberPods] = fields.Number(int64(value(n.MaxPodsPerNode)))
	}
}

// labelsOf returns labels by their keys.
func labelsOf(labels []containerengine.KeyValue) map[string]string {
	out := map[string]string{}
	for _, l := range labels {
		out[text(l.Key)] = text(l.Value)
	}
	return out
}
