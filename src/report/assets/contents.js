// Contents: the figures and tables of a report, in their order.

const FIGURES = [heatMap, dotPlot, radar, dose, bleuMirror, correlation, ranks, accuracy, layers, sizes, traces];
const TABLES = [scoresTable, agreementTable, significanceTable, coverageTable];
