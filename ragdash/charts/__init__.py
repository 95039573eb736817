"""One function a chart: results in, a Picture out. A Picture always carries its words and its table too."""
