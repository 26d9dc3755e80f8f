package provider_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/provider"
)

func TestEqualLabelsAreEqualStrings(t *testing.T) {
	labels := map[string]string{"user": "ann", "tenant": "acme", "a=b&c": "“日本” % +; "}
	set := provider.LabelsOf(labels)
	for range 20 {
		require.Equal(t, set, provider.LabelsOf(labels))
	}
	require.Equal(t, labels, set.Map())
	require.Equal(t, "ann", set.Get("user"))
	require.Equal(t, "“日本” % +; ", set.Get("a=b&c"))
	require.Empty(t, set.Get("none"))
	require.Equal(t, provider.LabelSet("tenant=acme&user=ann"),
		provider.LabelsOf(map[string]string{"user": "ann", "tenant": "acme"}))

	require.Empty(t, provider.LabelsOf(nil))
	require.Nil(t, provider.LabelSet("").Map())
	require.Equal(t, map[string]string{"a": "b"}, provider.LabelSet("%zz=1&a=b").Map(),
		"what can't be read is left out")
}
