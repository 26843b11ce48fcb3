export { init } from "echarts/core";
import { use } from "echarts/core";
import { BarChart, CustomChart, HeatmapChart, LineChart, RadarChart, ScatterChart, SunburstChart } from "echarts/charts";
import { AriaComponent, DataZoomComponent, GridComponent, MarkAreaComponent, MarkLineComponent, RadarComponent, TooltipComponent, VisualMapComponent } from "echarts/components";
import { SVGRenderer } from "echarts/renderers";
use([BarChart, CustomChart, HeatmapChart, LineChart, RadarChart, ScatterChart, SunburstChart, AriaComponent, DataZoomComponent, GridComponent, MarkAreaComponent, MarkLineComponent, RadarComponent, TooltipComponent, VisualMapComponent, SVGRenderer]);
