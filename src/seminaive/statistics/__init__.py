"""Raw, weighted statistics that merge: counts, moments, and the information measures made of them."""
